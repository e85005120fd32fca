# Thin over CMake's presets. `make demo` and `make test` do all the set-up on a fresh Debian 12.
PRESET ?= release
PREFIX ?= /usr/local
BUILD := build/$(PRESET)
# Warnings are errors in CI.
CONFIGURE := cmake --preset $(PRESET) $(if $(CI),-DEGC_WERROR=ON)
QUIET := >$(BUILD).log 2>&1 || { tail -n 40 $(BUILD).log; exit 1; }

.PHONY: demo test bench fuzz docs program installed build install setup lint format clean

demo: program
	@scripts/demo $(BUILD)/bin/egc

# What only tests need is there before the build looks for it: LibTorch's adapter is built where LibTorch is.
test:
	@scripts/setup --test
	@$(MAKE) --no-print-directory build
	ctest --test-dir $(BUILD) -j2 --output-on-failure --no-tests=error

bench: program
	$(BUILD)/bin/egc bench fusion
	$(BUILD)/bin/egc bench layer --model egc-s
	$(BUILD)/bin/egc bench layer --model egc-m
	$(BUILD)/bin/egc bench layer --model egc-m --hidden 124 --aggregators add,std,max --topology zinc-minibatch --reps 200
	$(BUILD)/bin/egc bench layer --model egc-m --hidden 124 --aggregators add,std,max --topology zinc-single --reps 500

# The program, the libraries with their headers, shipped models and configurations, and the Python package.
install: installed
	cmake --install $(BUILD) --prefix $(PREFIX) >$(BUILD).install.log
	@echo "$(PREFIX)/bin/egc"

fuzz:
	@scripts/setup --fuzz
	scripts/fuzz

# The C++ API reference. A public name without a comment is an error.
docs:
	@scripts/setup --docs
	@rm -rf build/docs && mkdir -p build/docs
	@EGC_VERSION=$$(sed -n 's/^project(egc VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt) doxygen docs/doxygen/Doxyfile
	@echo "build/docs/html/index.html"

program: ONLY := --target egc egc_cli_build
installed: ONLY := --target egc_installed
program installed build: setup
	@mkdir -p build
	@echo "building (the first time some minutes on two cores; log: $(BUILD).log)"
	@$(CONFIGURE) $(QUIET)
	@cmake --build $(BUILD) $(ONLY) $(QUIET)

setup:
	@scripts/setup

lint:
	@scripts/setup --dev
	scripts/lint

format:
	@scripts/setup --dev
	git ls-files '*.h' '*.hpp' '*.cpp' | xargs clang-format -i

clean:
	rm -rf build

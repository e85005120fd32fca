// Stands in for superpixels_opencv.cpp in a build without OpenCV.
#include "egc/core/error.h"
#include "egc/images/build_images.h"

namespace egc::images {
namespace {

[[noreturn]] void no_opencv() {
  fail(ErrorKind::kUsage,
       "cannot read images: this egc was built without OpenCV; install libopencv-contrib-dev and "
       "rebuild");
}

}  // namespace

bool have_opencv() { return false; }
data::GraphRecord superpixel_graph(std::span<const uint8_t>, int, int, int64_t) { no_opencv(); }
Image read_image(const std::filesystem::path&) { no_opencv(); }

}  // namespace egc::images

// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/pci_address.h"

#include <fcntl.h>

#include <string_view>

#include "base/raw_io.h"
#include "sources/gpu/cupti/places.h"

namespace dft::gpu::cupti {

namespace {

struct UuidText {
  char text[37];
  explicit UuidText(const unsigned char (&uuid)[16]) {
    static constexpr char kHex[] = "0123456789abcdef";
    char* p = text;
    for (unsigned i = 0; i < 16; ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) *p++ = '-';
      *p++ = kHex[uuid[i] >> 4];
      *p++ = kHex[uuid[i] & 15];
    }
    *p = '\0';
  }
};

bool file_has(const Path& file, std::string_view text) {
  const int fd = base::raw::open(file.c_str(), O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return false;
  char part[4096];
  const long size = base::raw::read(fd, part, sizeof part);
  base::raw::close(fd);
  return size > 0 && std::string_view(part, static_cast<std::size_t>(size)).find(text) != std::string_view::npos;
}

}  // namespace

PciAddress pci_address_of(const unsigned char (&uuid)[16], const char* gpus) {
  PciAddress address;
  const UuidText wanted(uuid);
  for_each_name(gpus, [&](std::string_view name) {
    Path file(gpus);
    if (address.text[0] != '\0' || name[0] == '.' || name.size() >= sizeof address.text) return;
    if (file.append("/") && file.append(name) && file.append("/information") && file_has(file, wanted.text)) {
      name.copy(address.text, name.size());
    }
  });
  return address;
}

}  // namespace dft::gpu::cupti

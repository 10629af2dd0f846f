#pragma once
#include <span>
namespace boost { template <class T> using span = std::span<T>; }

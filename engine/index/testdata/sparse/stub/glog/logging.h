#pragma once
#include <iostream>
#include <sstream>
struct NoLog { template <class T> NoLog& operator<<(const T&) { return *this; } };
#define LOG(x) NoLog()
#define VLOG(x) NoLog()
#define DLOG(x) NoLog()

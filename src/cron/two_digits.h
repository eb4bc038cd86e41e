#pragma once
// cron/two_digits.h - writes a number from 0 to 99 with two digits: "07".

#include <string>

namespace belay::cron {

inline std::string two_digits(unsigned number) {
  return (number < 10 ? "0" : "") + std::to_string(number);
}

}  // namespace belay::cron

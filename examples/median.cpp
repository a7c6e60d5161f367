// C++: the median of the numbers on standard input.

#include <algorithm>
#include <iostream>
#include <iterator>
#include <vector>

int main() {
    std::vector<double> numbers{std::istream_iterator<double>(std::cin), {}};
    if (numbers.empty()) {
        std::cerr << "no numbers on standard input\n";
        return 1;
    }
    auto middle = numbers.begin() + numbers.size() / 2;
    std::nth_element(numbers.begin(), middle, numbers.end());
    std::cout << "median: " << *middle << '\n';
}

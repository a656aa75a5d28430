"""C++ text to trees and back, for the compiler and the simulator."""

"""Multiplies two matrices with numpy, whose libraries reserve far more address space than they use."""

import numpy

size = 1000
product = numpy.ones((size, size)) @ numpy.ones((size, size))
print(int(product.sum()))

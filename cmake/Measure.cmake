# Measure: tilewright-measure, built when the CUDA toolkit is present.

// The runtimes by name: PyTorch 2.11 op by op, the same under torch.compile, and one that gives away whatever a
// product's epilogue could do.
#include "tilewright/runtime.h"

namespace tilewright {
namespace {

constexpr RuntimeTraits eager{.form = StreamForm::Eager,
                              .residual = Fusion::Apart,
                              .gradient_sums = Fusion::Apart,
                              .activation = Fusion::Apart,
                              .rotary = Fusion::Apart,
                              .cache = Fusion::Apart,
                              .scores = Fusion::Apart,
                              .embedding = Fusion::Apart,
                              .loss = Fusion::Apart,
                              .experts = Fusion::Apart,
                              .norms_read_again = true,
                              .bias_gradients = true,
                              .pads_products = false,
                              .widens_rows = false};

constexpr RuntimeTraits compiled{.form = StreamForm::Compiled,
                                 .residual = Fusion::Joined,
                                 .gradient_sums = Fusion::Joined,
                                 .activation = Fusion::Joined,
                                 .rotary = Fusion::Joined,
                                 .cache = Fusion::Joined,
                                 .scores = Fusion::Joined,
                                 .embedding = Fusion::Joined,
                                 .loss = Fusion::Joined,
                                 .experts = Fusion::Joined,
                                 .norms_read_again = false,
                                 .bias_gradients = true,
                                 .pads_products = true,
                                 .widens_rows = true};

constexpr RuntimeTraits ideal{.form = StreamForm::Fused,
                              .residual = Fusion::Epilogue,
                              .gradient_sums = Fusion::Epilogue,
                              .activation = Fusion::Epilogue,
                              .rotary = Fusion::Epilogue,
                              .cache = Fusion::Epilogue,
                              .scores = Fusion::Epilogue,
                              .embedding = Fusion::Epilogue,
                              .loss = Fusion::Epilogue,
                              .experts = Fusion::Epilogue,
                              .norms_read_again = false,
                              .bias_gradients = false,
                              .pads_products = false,
                              .widens_rows = false};

}  // namespace

const RuntimeTraits& traits_of(Runtime runtime) {
    switch (runtime) {
        case Runtime::Eager: return eager;
        case Runtime::Compiled: return compiled;
        case Runtime::Ideal: return ideal;
    }
    return eager;
}

}  // namespace tilewright

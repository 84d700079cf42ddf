# How the Arm emulator is made, for lab/build: as the x86 one (../qemu/recipe.sh, which is read before this), for
# another target and machine. The hash of its sources covers both.

CONFIGURE=("${CONFIGURE[@]//x86_64/aarch64}")
# The last three are no devices of the machine: target/arm does not link without them.
DEVICES='CONFIG_ARM_VIRT=y
CONFIG_ARM_V7M=y
CONFIG_SEMIHOSTING=y
CONFIG_ARM_COMPATIBLE_SEMIHOSTING=y'
# Without vectors beyond NEON, whose helpers take long to compile.
HOT="${HOT/target_i386_(tcg|helper|lab)/target_arm_(lab|cpu\\.|helper|op_helper|ptw|tlb_helper|translate(-a64)?\\.|neon|vec|vfp|crypto)}"
HOT=${HOT/x86_64/aarch64}

L=2
--num-layers $L --hidden-size 64 --num-attention-heads ${A:-4} --vocab-size 100 --swiglu --num-experts 4

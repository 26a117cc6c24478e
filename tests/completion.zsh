# zsh -f tests/completion.zsh PREFIX: types into an interactive zsh with the completions installed in PREFIX, presses Tab, and
# fails when the line that comes out is not the one that was meant.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=($1/share/zsh/site-functions \$fpath); PATH=$1/bin:\$PATH; autoload -U compinit; compinit -u -D; preexec() { print -r -- as\"ked: \$1.\" }"
zpty -w -n shell $'tilewright sea\tgpt2 --gp\th200 --phas\tpref\t--hel\t\n'
zpty -r shell said '*asked: *.*'
[[ $said == *"asked: tilewright search gpt2 --gpu h200 --phase prefill --help"* ]] || { print -r -- "zsh completed: $said" | cat -v; exit 1 }

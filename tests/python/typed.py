"""What mypy must accept, and (by unused ignores being errors) what it must refuse."""
import tilewright as tw

step: tw.Prediction = tw.predict("gpt2", gpu="h200", batch=8, phase="decode", seq="8k", tied=True)
seconds: float = step.step
low: float = step.step.low
findings: tw.Findings = tw.lint("gpt2", "llama-3-8b", gpu="h200", min_cost=0.02)
tw.search({"model_type": "gpt2"}, gpu="h200", only=["heads", "ffn"])

tw.predict("gpt2", gpu="h200", batch="many")  # type: ignore[arg-type]
tw.predict("gpt2", gpu="h200", phase="sleep")  # type: ignore[arg-type]
tw.predict("gpt2", gpu="h200", bathc=8)  # type: ignore[call-arg]
tw.plan("gpt2", "llama-3-8b")  # type: ignore[misc]

"""A LightningModule on scikit-learn's digits: every validation epoch becomes a run."""

import lightning
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split

import offdiag


class Classifier(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10)
        )

    def training_step(self, batch: list[torch.Tensor], _: int) -> torch.Tensor:
        _, pixels, digit = batch
        return torch.nn.functional.cross_entropy(self.layers(pixels), digit)

    def validation_step(self, batch: list[torch.Tensor], _: int) -> dict[str, torch.Tensor]:
        number, pixels, digit = batch
        scores = self.layers(pixels).softmax(-1)
        return {"y_true": digit, "y_score": scores, "sample_ids": number}

    test_step = validation_step

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=0.01)


lightning.seed_everything(1, verbose=False)
digits = load_digits()
cases = TensorDataset(
    torch.arange(len(digits.target)),
    torch.tensor(digits.data, dtype=torch.float32) / 16,
    torch.tensor(digits.target),
)
training, validation = random_split(cases, [1_400, len(cases) - 1_400])
log = offdiag.lightning.LogPredictions(name="two layers", dataset="digits", labels=range(10))
trainer = lightning.Trainer(
    max_epochs=2,
    callbacks=[log],
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
model = Classifier()
held = DataLoader(validation, batch_size=100)
trainer.fit(model, DataLoader(training, batch_size=50, shuffle=True), held)
trainer.test(model, held, verbose=False)
for run in log.runs:
    print(run.id, run.evaluation().aggregate["macro_f1"].value)

"""A plain training loop of PyTorch on scikit-learn's digits: validation batches become a run."""

import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split

import offdiag

torch.manual_seed(1)
digits = load_digits()
cases = TensorDataset(
    torch.arange(len(digits.target)),
    torch.tensor(digits.data, dtype=torch.float32) / 16,
    torch.tensor(digits.target),
)
training, validation = random_split(cases, [1_400, len(cases) - 1_400])
model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(3):
    for _, pixels, digit in DataLoader(training, batch_size=50, shuffle=True):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(pixels), digit).backward()
        optimizer.step()

    with offdiag.start_run(
        name=f"two layers, epoch {epoch}",
        dataset="digits",
        labels=range(10),
        params={"epoch": epoch, "lr": 0.01},
    ) as run:
        for number, pixels, digit in DataLoader(validation, batch_size=50):
            scores = model(pixels).softmax(-1)  # Tensors may require gradients.
            run.log(y_true=digit, y_pred=scores.argmax(-1), y_score=scores, sample_ids=number)
    print(epoch, run.evaluation().aggregate["macro_f1"].value)

"""A Trainer of Hugging Face with a tiny model made here: every evaluation becomes a run.

Digits of scikit-learn are read as sentences of 64 words, one for each shade of a pixel.
"""

import tempfile

import torch
from sklearn.datasets import load_digits
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainingArguments,
    set_seed,
)

import offdiag


class Sentences(Dataset[dict[str, torch.Tensor]]):
    def __init__(self, first: int, last: int) -> None:
        digits = load_digits()
        self.words = torch.tensor(digits.data[first:last], dtype=torch.long)
        self.digit = torch.tensor(digits.target[first:last])

    def __len__(self) -> int:
        return len(self.digit)

    def __getitem__(self, place: int) -> dict[str, torch.Tensor]:
        return {"input_ids": self.words[place], "labels": self.digit[place]}


set_seed(1)
model = BertForSequenceClassification(
    BertConfig(
        vocab_size=17,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        num_labels=10,
        id2label={code: f"digit {code}" for code in range(10)},
    )
)
log = offdiag.transformers.LogPredictions(name="tiny BERT", dataset="digits as sentences")
with tempfile.TemporaryDirectory() as folder:
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir=folder,
            max_steps=20,
            eval_strategy="steps",
            eval_steps=10,
            per_device_train_batch_size=32,
            per_device_eval_batch_size=100,
            learning_rate=0.005,
            report_to="none",
            save_strategy="no",
            use_cpu=True,
            disable_tqdm=True,
            logging_strategy="no",
        ),
        train_dataset=Sentences(0, 1_400),
        eval_dataset=Sentences(1_400, 1_797),
        compute_metrics=log,
        callbacks=[log],
    )
    trainer.train()
for run in log.runs:
    print(run.id, run.evaluation().aggregate["macro_f1"].value)

"""A model of Keras on scikit-learn's digits: the end of training becomes a run."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")  # Or whichever is installed.

import keras
from sklearn.datasets import load_digits

import offdiag

keras.utils.set_random_seed(1)
digits = load_digits()
pixels = digits.data.astype("float32") / 16
log = offdiag.keras.LogPredictions(
    pixels[1_400:],
    digits.target[1_400:],
    name="two layers",
    dataset="digits, last 397",
    labels=range(10),
)
model = keras.Sequential(
    [
        keras.Input((64,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy")
model.fit(pixels[:1_400], digits.target[:1_400], epochs=3, verbose=0, callbacks=[log])
run = log.run
assert run is not None
print(run.evaluation().aggregate["macro_f1"].value)

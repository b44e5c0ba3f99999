"""A booster of LightGBM on scikit-learn's wines: its last round becomes a run."""

import lightgbm
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

import offdiag

wines = load_wine()
train_X, test_X, train_y, test_y = train_test_split(
    wines.data, wines.target, test_size=0.4, random_state=1, stratify=wines.target
)
log = offdiag.lightgbm.LogPredictions(
    test_X, test_y, name="20 leaves", dataset="wines, test set", labels=wines.target_names
)
booster = lightgbm.train(
    {
        "objective": "multiclass",
        "num_class": 3,
        "num_leaves": 20,
        "min_data_in_leaf": 5,
        "num_threads": 1,
        "verbosity": -1,
    },
    lightgbm.Dataset(train_X, train_y),
    num_boost_round=20,
    callbacks=[log],
)
run = log.log(booster)  # The run of the callback; needed only where training stops early.
print(run.evaluation().confusion_matrix)

"""A booster of XGBoost on scikit-learn's tumours, stopped early: the best round becomes a run."""

import xgboost
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import offdiag

tumours = load_breast_cancer()
train_X, test_X, train_y, test_y = train_test_split(
    tumours.data, tumours.target, test_size=0.4, random_state=1, stratify=tumours.target
)
training, held = xgboost.DMatrix(train_X, train_y), xgboost.DMatrix(test_X, test_y)
log = offdiag.xgboost.LogPredictions(
    held, name="depth 3", dataset="tumours", labels=tumours.target_names
)
xgboost.train(
    {"objective": "binary:logistic", "max_depth": 3, "nthread": 1},
    training,
    num_boost_round=40,
    evals=[(held, "held")],
    early_stopping_rounds=5,
    verbose_eval=False,
    callbacks=[log],
)
run = log.run
assert run is not None
print(run.evaluation().per_class["recall"]["malignant"].value)

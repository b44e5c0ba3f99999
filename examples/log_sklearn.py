"""A scikit-learn pipeline on the wine data: a test set and five folds."""

from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import offdiag

wines = load_wine()
names = wines.target_names[wines.target]
train_X, test_X, train_y, test_y = train_test_split(
    wines.data, names, test_size=0.4, random_state=1, stratify=names
)
model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))

run = offdiag.sklearn.log_estimator(
    model.fit(train_X, train_y), test_X, test_y, name="C = 0.1", dataset="wines, test set"
)
print(run.evaluation().confusion_matrix)

folds = offdiag.sklearn.log_cross_validation(
    model, wines.data, names, cv=5, name="C = 0.1, cross-validated", dataset="wines"
)
print("all folds", folds.evaluation().aggregate["overall_accuracy"].value)
print("fold 1   ", folds.evaluation(slice="fold=1").aggregate["overall_accuracy"].value)

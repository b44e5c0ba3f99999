"""Numbers of the literature as they come out of a copy, and with their cells parted.

Those called `COPIED` are what the sources give when their text is copied: gaps are lost, and a
table is one line or has one cell on each line. The others are what the question about them asks
for.
"""

from __future__ import annotations

import re
from typing import Final

# "Machine Learning & Signals Learning", chapter 12; mathematics as its source writes it.
LECTURE_12_3_COPIED: Final = """\
Predicted Yes No Actual Yes 0 10 No 0 990
\\text {Accuracy} &= \\frac {990}{1000} = 0.99 = 99\\%\\\\
\\text {Precision} &= \\dfrac {TP}{FP+TP} = \\frac {0}{0 + 0} = \\text {Undefined}\\\\
\\text {Recall} &= \\frac {TP}{TP + FN} = \\frac {0}{0+10} = 0\\\\
\\text {Specificity} &= \\frac {TN}{FP+TN} = \\frac {990}{1000}= 0.99 = 99\\%\\\\
F_1 &= \\frac {TP}{TP + \\frac {1}{2}\\left (FP+FN\\right )} = \\frac {0}{\\cdots } = 0
"""
LECTURE_12_3: Final = LECTURE_12_3_COPIED.replace(" Actual", "\nActual").replace(" No 0", "\nNo 0")
LECTURE_12_5_COPIED: Final = """\
Predicted A B C Total Actual A 726280 B 86 1 15 C 21 2 5 Total 82 13 5 100
Metric Class A (80) Class B (15) Class C (5) \
Precision \\(72/82 \\approx 87.8\\%\\) \\(6/13 \\approx 46.2\\%\\) \\(2/5 = 40.0\\%\\) \
Recall \\(72/80 = 90.0\\%\\) \\(6/15 = 40.0\\%\\) \\(2/5 = 40.0\\%\\) \
\\(F_1\\) \\({\\approx }88.9\\%\\) \\({\\approx }42.9\\%\\) \\(40.0\\%\\)
\\text {Precision}_{\\text {macro}} &= \\tfrac {1}{3}(0.878+0.462+0.400) \\approx 58.0\\%,\\\\
\\text {Recall}_{\\text {macro}} &= \\tfrac {1}{3}(0.900+0.400+0.400) \\approx 56.7\\%,\\\\
F_{1,\\text {macro}} &= \\tfrac {1}{3}(0.889+0.429+0.400) \\approx 57.3\\%.
Accuracy 80%
"""
LECTURE_12_5: Final = re.sub(
    r" (?=Actual|[BC] \d|Total \d|Precision|Recall|\\\(F_1|Metric)", "\n", LECTURE_12_5_COPIED
).replace("726280\nB 86 1 15\nC 21 2 5", "72 6 2 80\nB 8 6 1 15\nC 2 1 2 5")

# "Confusion Matrix: MCC, Kappa, and Cost-Sensitive Evaluation"; formulas stand there twice.
SCREENING_COPIED: Final = """\
10,000 patients (100 positive, 9,900 negative):
Pred +Pred -
True +8020
True -2009,700
Accuracy: 9,780/10,000=97.8%9{,}780/10{,}000 = 97.8\\%. \
Precision: 80/280=28.6%80/280 = 28.6\\%. Recall: 80/100=80%80/100 = 80\\%. \
MCC: (80970020020)/280100990097200.47(80 \\cdot 9700 - 200 \\cdot 20)/\
\\sqrt{280 \\cdot 100 \\cdot 9900 \\cdot 9720} \\approx 0.47.
"""
SCREENING: Final = """\
Pred + Pred -
True + 80 20
True - 200 9,700
Accuracy: 9,780/10,000=97.8%. Precision: 80/280=28.6%. Recall: 80/100=80%. MCC: 0.47
"""

# Zeng 2025, Mathematics 13(16) 2609.
WINE_TABLE_9_COPIED: Final = """\
Predicted 0
(Class 1)
Predicted 1
(Class 2)
Predicted 2
(Class 3)
Actual 0 (Class 1)838
Actual 1 (Class 2)1173
Actual 2 (Class 3)527
"""
WINE_TABLE_9: Final = """\
\tPredicted 0 (Class 1)\tPredicted 1 (Class 2)\tPredicted 2 (Class 3)
Actual 0 (Class 1)\t8\t3\t8
Actual 1 (Class 2)\t1\t17\t3
Actual 2 (Class 3)\t5\t2\t7
"""
WINE_TABLE_10: Final = """\
Original\t\tPermuted\t\tTransposed\t
\tPrecision\tRecall\tPrecision\tRecall\tPrecision\tRecall
Class 1 (y = 0)\t0.571429\t0.421053\t0.388889\t0.500000\t0.388889\t0.500000
Class 2 (y = 1)\t0.772727\t0.809524\t0.571429\t0.421053\t0.571429\t0.421053
Class 3 (y = 2)\t0.388889\t0.500000\t0.772727\t0.809524\t0.772727\t0.809524
"""
WINE_TABLE_11_COPIED: Final = """\
OriginalPermutedTransposed
Macro precision0.577681580.577681580.57768158
Macro recall0.576858810.576858810.57685881
Macro F10.571015390.571015390.57101539
Micro precision0.592592590.592592590.59259259
Micro recall0.592592590.592592590.59259259
Micro F10.592592590.592592590.59259259
Weighted precison0.602386300.602386300.60238630
Weighted recall0.592592590.592592590.59259259
Weighted F10.591514300.5915143000.591514300
Overall accuracy0.592592590.592592590.59259259
Error rate0.407407410.407407410.40740741
Average accuracy0.728395060.728395060.72839506
Macro F1 (MH)0.577269900.577269900.57726990
"""
WINE_TABLE_11: Final = re.sub(r"(?=0\.\d{8})", "\t", WINE_TABLE_11_COPIED).replace(
    "OriginalPermutedTransposed", "\tOriginal\tPermuted\tTransposed"
)
WINE_CLASSES: Final = "Class 1 19, Class 2 21, Class 3 14"
CIFAR: Final = """\
  • Overall accuracy: 0.7080.
  • Macro precision: 0.7186.
  • Macro recall: 0.7080.
  • Weighted precision: 0.7186.
"""
CIFAR_CLASSES: Final = "10 x 1000"

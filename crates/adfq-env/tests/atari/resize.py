"""Shrinks grey pictures to 84 x 84 with OpenCV, as ALE's vector environment does: the reference for the tests.

    python resize.py HEIGHT < pictures > small
"""

import sys

import cv2
import numpy as np

height = int(sys.argv[1])
pictures = np.frombuffer(sys.stdin.buffer.read(), np.uint8).reshape(-1, height, 160)
for picture in pictures:
    sys.stdout.buffer.write(cv2.resize(picture, (84, 84), interpolation=cv2.INTER_AREA).tobytes())

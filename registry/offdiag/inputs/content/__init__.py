"""The content of samples (images, text, fields), as it is given and as it is stored."""

"""What replies write beyond CommonMark, and where CommonMark misunderstands them."""

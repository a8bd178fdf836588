print("Quickstart")

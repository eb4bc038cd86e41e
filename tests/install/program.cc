int part();
int main() { return part(); }

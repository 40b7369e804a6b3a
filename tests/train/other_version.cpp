// What a process that this library is preloaded into takes for its version.
extern "C" [[gnu::visibility("default")]] const char* dragoman_version() { return "0.0.0"; }

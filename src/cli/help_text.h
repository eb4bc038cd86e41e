#pragma once
// cli/help_text.h - texts of --help beyond the list of options: examples, exit codes, environment.
//
// {p} is replaced by the name with which the program was called.

#include <string_view>

namespace belay::cli::help {

extern const std::string_view kProgram;
extern const std::string_view kProgramEnd;
extern const std::string_view kStatus;
extern const std::string_view kRun;
extern const std::string_view kEnqueue;
extern const std::string_view kWorker;
extern const std::string_view kServe;
extern const std::string_view kApi;
extern const std::string_view kFork;
extern const std::string_view kApprovals;
extern const std::string_view kDecide;
extern const std::string_view kResume;
extern const std::string_view kCancel;
extern const std::string_view kThreads;
extern const std::string_view kEditThread;
extern const std::string_view kHistory;
extern const std::string_view kCalls;
extern const std::string_view kDev;
extern const std::string_view kExport;
extern const std::string_view kImport;
extern const std::string_view kState;
extern const std::string_view kEvents;
extern const std::string_view kReplay;
extern const std::string_view kPreserve;
extern const std::string_view kOutbox;
extern const std::string_view kQueue;
extern const std::string_view kWorkers;
extern const std::string_view kStorePrune;
extern const std::string_view kAgents;
extern const std::string_view kConfig;
extern const std::string_view kCheck;
extern const std::string_view kModels;
extern const std::string_view kModelSettings;
extern const std::string_view kDoctor;
extern const std::string_view kCompletions;
extern const std::string_view kManual;
extern const std::string_view kStore;
extern const std::string_view kStoreEncrypt;
extern const std::string_view kStoreRotate;

}  // namespace belay::cli::help

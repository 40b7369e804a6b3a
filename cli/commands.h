#pragma once
namespace dragoman {

class Engine;
template <class Options>
struct Table;

/// The options of each subcommand are one struct, in cli/NAME_options.h or, for train, in options/train_options.h.
struct TrainOptions;
struct DataCommandOptions;
struct PlotOptions;
struct TranslateCommandOptions;
struct ServeCommandOptions;
struct ScoreCommandOptions;
struct ExplainCommandOptions;
struct AlignCommandOptions;
struct AverageCommandOptions;
struct ConvertCommandOptions;
struct QuantizeCommandOptions;
struct VocabOptions;
struct DetectOptions;
struct EvaluateCommandOptions;
struct InspectOptions;
struct CompletionOptions;

/// Their tables, in cli/NAME_flags.cpp or cli/NAME.cpp; that of train is in options/train_table.h. To add an option,
/// add a member to the struct and a row to the table.
Table<DataCommandOptions> data_table();
Table<PlotOptions> plot_table();
Table<TranslateCommandOptions> translate_table();
Table<ServeCommandOptions> serve_table();
Table<ScoreCommandOptions> score_table();
Table<ExplainCommandOptions> explain_table();
Table<AlignCommandOptions> align_table();
Table<AverageCommandOptions> average_table();
Table<ConvertCommandOptions> convert_table();
Table<QuantizeCommandOptions> quantize_table();
Table<VocabOptions> vocab_table();
Table<DetectOptions> detect_table();
Table<EvaluateCommandOptions> evaluate_table();
Table<InspectOptions> inspect_table();
Table<CompletionOptions> completion_table();

/// The functions that do the work. They return the exit code and throw Error for mistakes that the user can correct.
int train_command(Engine& engine, const TrainOptions& options);
int data_command(Engine& engine, const DataCommandOptions& options);
int plot_command(Engine& engine, const PlotOptions& options);
int translate_command(Engine& engine, const TranslateCommandOptions& options);
int serve_command(Engine& engine, const ServeCommandOptions& options);
int score_command(Engine& engine, const ScoreCommandOptions& options);
int explain_command(Engine& engine, const ExplainCommandOptions& options);
int align_command(Engine& engine, const AlignCommandOptions& options);
int average_command(Engine& engine, const AverageCommandOptions& options);
int convert_command(Engine& engine, const ConvertCommandOptions& options);
int quantize_command(Engine& engine, const QuantizeCommandOptions& options);
int vocab_command(Engine& engine, const VocabOptions& options);
int detect_command(Engine& engine, const DetectOptions& options);
int evaluate_command(Engine& engine, const EvaluateCommandOptions& options);
int inspect_command(Engine& engine, const InspectOptions& options);
int completion_command(Engine& engine, const CompletionOptions& options);

}  // namespace dragoman

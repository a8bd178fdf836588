import Foundation
import ODataGeneration
import ODataMetadata

/// The command line tool `odata-generator`.
@main
enum GeneratorCommand {
    private static let usage = """
        Generates Swift code from the metadata document of an OData service.

            odata-generator generate [--output FOLDER] [--force] FILE...
            odata-generator list FILE
            odata-generator explain TYPE FILE

        FILE is a configuration (NAME.odata.json) or a document (NAME.csdl.xml, NAME.csdl.json, or another name). The configuration of a
        document is the one beside it.

        generate  writes NAME.odata.swift, beside FILE or into FOLDER, and removes files that are left over from a larger "files". A
                  file that was edited stays as it is, and that is an error; --force overwrites it. After an error nothing is written.
        list      prints the number of types for each entity set, and the faults of the document.
        explain   prints why a type is included.
        """

    /// The request of the command line.
    private struct Request {
        var verb = ""
        var words: [String] = []
        var output: String?
        var force = false
    }

    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch let error as GenerationError {
            write(error.description, to: FileHandle.standardError)
            exit(1)
        } catch let error as UsageError {
            write("error: \(error.message)\n\n\(usage)", to: FileHandle.standardError)
            exit(2)
        } catch {
            write("error: \(error.localizedDescription)", to: FileHandle.standardError)
            exit(1)
        }
    }

    private struct UsageError: Error {
        let message: String
    }

    private static func run(_ arguments: [String]) throws {
        if arguments.isEmpty || arguments.contains("--help") || arguments.contains("-h") {
            write(usage, to: FileHandle.standardOutput)
            return
        }
        let request = try parsed(arguments)
        switch request.verb {
        case "generate":
            guard !request.words.isEmpty else { throw UsageError(message: "'generate' needs a file") }
            try generate(request)
        case "list":
            guard request.words.count == 1 else { throw UsageError(message: "'list' needs one file") }
            let input = try CodeGenerator.Input(file: request.words[0])
            write(CodeGenerator.listing(of: try model(input)), to: FileHandle.standardOutput)
        case "explain":
            guard request.words.count == 2 else { throw UsageError(message: "'explain' needs a type and a file") }
            let generator = try CodeGenerator(CodeGenerator.Input(file: request.words[1]))
            write(try generator.explanation(of: request.words[0], file: request.words[1]), to: FileHandle.standardOutput)
        default:
            throw UsageError(message: "there is no command '\(request.verb)'")
        }
    }

    private static func parsed(_ arguments: [String]) throws -> Request {
        var request = Request()
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--force": request.force = true
            case "--output":
                guard let folder = rest.popFirst() else { throw UsageError(message: "'--output' needs a folder") }
                request.output = folder
            case _ where word.hasPrefix("-"): throw UsageError(message: "there is no option '\(word)'")
            case _ where request.verb.isEmpty: request.verb = word
            default: request.words.append(word)
            }
        }
        return request
    }

    private static func generate(_ request: Request) throws {
        var generation = GenerationRun(force: request.force)
        // All files are examined, so that one run reports all faults.
        var faults: [GenerationDiagnostic] = []
        for file in request.words {
            do {
                let generator = try CodeGenerator(CodeGenerator.Input(file: file))
                for warning in generator.warnings { write(warning.description, to: FileHandle.standardError) }
                let folder = request.output.map { URL(fileURLWithPath: $0) } ?? URL(fileURLWithPath: file).deletingLastPathComponent()
                generation.add(generator, from: file, to: folder)
            } catch {
                faults += error.diagnostics
            }
        }
        faults += generation.faults
        guard faults.isEmpty else { throw GenerationError(faults) }
        for change in try generation.write() {
            switch change {
            case .written(let url): write("wrote \(url.lastPathComponent)", to: FileHandle.standardOutput)
            case .removed(let url): write("removed \(url.lastPathComponent)", to: FileHandle.standardOutput)
            }
        }
    }

    private static func model(_ input: CodeGenerator.Input) throws -> ServiceModel {
        do {
            return try ServiceModel(data: input.document, references: input.references)
        } catch let error as ServiceModelError {
            throw GenerationError([
                GenerationDiagnostic(.error, file: input.documentName, line: error.line, column: error.column, error.message)
            ])
        }
    }

    private static func write(_ text: String, to handle: FileHandle) {
        handle.write(Data((text + "\n").utf8))
    }
}

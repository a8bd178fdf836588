public import Foundation

/// The files of all inputs of a run, which are all examined before the first one is written.
///
///     var run = GenerationRun()
///     run.add(generator, from: "shop.csdl.xml", to: folder)
///     for change in try run.write() { print(change) }
///
/// A run writes nothing if a file is refused, so that the code isn't half changed. If the disk fails while files are written, those before
/// stay: generate again.
public struct GenerationRun: Sendable {
    /// The change that ``write()`` made to a file.
    public enum Change: Sendable, Hashable {
        /// The file is new or had other contents.
        case written(URL)
        /// The file was left over from a configuration with a larger `files`, and was removed: its declarations are in the other files.
        case removed(URL)
    }

    private struct Output: Sendable {
        let file: GeneratedFile
        let folder: URL
        let input: String
    }

    /// The reasons why nothing can be written.
    public private(set) var faults: [GenerationDiagnostic] = []

    private let force: Bool
    private var outputs: [Output] = []
    /// The positions of the outputs by their paths.
    private var places: [String: Int] = [:]
    private var leftovers: [URL] = []
    /// The paths of possible leftovers.
    private var examined: Set<String> = []

    /// Creates a run.
    ///
    /// - Parameter force: Whether to overwrite or remove files that were edited after they were generated, and to overwrite files that
    ///   aren't generated code.
    public init(force: Bool = false) {
        self.force = force
    }

    /// Adds the files of an input, and compares them with the existing files in the folder and with the files of earlier inputs.
    ///
    /// - Parameters:
    ///   - generator: The generator of the input's code.
    ///   - input: The name of the input, for errors.
    ///   - folder: The folder for the files. It is created if it doesn't exist.
    public mutating func add(_ generator: CodeGenerator, from input: String, to folder: URL) {
        for file in generator.files() { add(Output(file: file, folder: folder, input: input)) }
        for name in generator.furtherNames {
            let url = folder.appendingPathComponent(name)
            // An input can occur twice, as a document and as a configuration.
            guard examined.insert(url.standardizedFileURL.path).inserted else { continue }
            switch GeneratedFile.state(of: url) {
            case .unedited: leftovers.append(url)
            case .edited:
                if force {
                    leftovers.append(url)
                } else {
                    refuse(
                        url,
                        "this file is left over from a configuration with a larger 'files', and was edited; move your changes to another "
                            + "file and remove it, or let --force remove it")
                }
            // Only the name is that of a generated file.
            case .missing, .same, .empty, .foreign, .unreadable: continue
            }
        }
    }

    private mutating func add(_ output: Output) {
        let url = output.folder.appendingPathComponent(output.file.name)
        // Some file systems don't distinguish case.
        let path = url.standardizedFileURL.path.lowercased()
        if let other = places[path].map({ outputs[$0] }) {
            guard other.file != output.file else { return }
            faults.append(
                GenerationDiagnostic(
                    .error, file: output.input,
                    "its code and that of '\(other.input)' are both '\(url.relativePath)'; rename one of the two, or generate them into "
                        + "different folders"))
            return
        }
        places[path] = outputs.count
        outputs.append(output)
        guard !force else { return }
        switch GeneratedFile.state(of: url, comparedWith: output.file.text) {
        case .edited, .foreign:
            refuse(
                url,
                "this file was edited after it was generated, or isn't generated code; move your changes to another file, or overwrite it "
                    + "with --force")
        case .unreadable: refuse(url, "this file can't be read, so it may have been edited; overwrite it with --force")
        case .missing, .same, .empty, .unedited: break
        }
    }

    private mutating func refuse(_ url: URL, _ message: String) {
        faults.append(GenerationDiagnostic(.error, file: url.relativePath, message))
    }

    /// Writes the files that changed, and removes those that are left over.
    ///
    /// - Returns: The changes. Files with the same contents aren't written.
    /// - Throws: ``GenerationError`` with all ``faults``, or for the file that can't be written.
    public func write() throws(GenerationError) -> [Change] {
        guard faults.isEmpty else { throw GenerationError(faults) }
        var changes: [Change] = []
        for output in outputs {
            let url = output.folder.appendingPathComponent(output.file.name)
            try attempt(url, "written") {
                try FileManager.default.createDirectory(at: output.folder, withIntermediateDirectories: true)
                switch try output.file.write(to: output.folder, force: force) {
                case .written: changes.append(.written(url))
                case .unchanged: break
                case .refused:
                    throw GenerationError([
                        GenerationDiagnostic(.error, file: url.relativePath, "this file was edited during the run; generate again")
                    ])
                }
            }
        }
        let written = Set(places.keys)
        for url in leftovers where !written.contains(url.standardizedFileURL.path.lowercased()) {
            try attempt(url, "removed") {
                try FileManager.default.removeItem(at: url)
                changes.append(.removed(url))
            }
        }
        return changes
    }

    private func attempt(_ url: URL, _ verb: String, _ work: () throws -> Void) throws(GenerationError) {
        do {
            try work()
        } catch let error as GenerationError {
            throw error
        } catch {
            throw GenerationError([
                GenerationDiagnostic(.error, file: url.relativePath, "this file can't be \(verb): \(error.localizedDescription)")
            ])
        }
    }
}

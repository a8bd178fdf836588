import Foundation
import PackagePlugin

/// Generates code for the metadata documents of a target in each build after a change of a document.
@main
struct ODataGeneratorPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        return try commands(
            for: target.sourceFiles.map(\.url), tool: context.tool(named: "ODataGenerator").url, in: context.pluginWorkDirectoryURL)
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct Job {
        let file: URL
        let inputs: [URL]
        let outputs: [String]
    }

    private func commands(for files: [URL], tool: URL, in folder: URL) throws -> [Command] {
        let configurations = files.filter { $0.lastPathComponent.hasSuffix(".odata.json") }.map { Configuration($0) }
        let named = Set(configurations.flatMap(\.inputs))
        // The configuration of a document is the one with its name in the same folder, even if that names another document.
        let configured = Set(configurations.map { Configuration.base(of: $0.file, [".odata.json"]) })
        // Everything of a document without a configuration is generated.
        let documents = files.filter { file in
            Configuration.documentEnds.contains { file.lastPathComponent.hasSuffix($0) } && !named.contains(file.standardizedFileURL)
                && !configured.contains(Configuration.base(of: file, Configuration.documentEnds))
        }
        let jobs =
            configurations.map { Job(file: $0.file, inputs: $0.inputs, outputs: $0.outputs) }
            + documents.map { Job(file: $0, inputs: [$0], outputs: [Configuration.stem(of: $0) + ".odata.swift"]) }
        var owners: [String: URL] = [:]
        for job in jobs {
            for output in job.outputs {
                // Some file systems don't distinguish case.
                guard let other = owners.updateValue(job.file, forKey: output.lowercased()) else { continue }
                throw Failure(
                    description: "the code of '\(other.path)' and that of '\(job.file.path)' are both '\(output)'; rename one of the two, "
                        + "or move it to another target")
            }
        }
        return jobs.map { command($0.file, $0.inputs, $0.outputs, tool, folder) }
    }

    /// The outputs must be known before the tool runs, so their number is in the configuration and doesn't depend on the document.
    private func command(_ file: URL, _ inputs: [URL], _ outputs: [String], _ tool: URL, _ folder: URL) -> Command {
        .buildCommand(
            displayName: "Generating code from \(file.lastPathComponent)", executable: tool,
            arguments: ["generate", "--force", "--output", folder.path, file.path], inputFiles: inputs,
            outputFiles: outputs.map { folder.appendingPathComponent($0) })
    }
}

#if canImport(XcodeProjectPlugin)
import XcodeProjectPlugin

extension ODataGeneratorPlugin: XcodeBuildToolPlugin {
    func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command] {
        try commands(
            for: target.inputFiles.map(\.url), tool: context.tool(named: "ODataGenerator").url, in: context.pluginWorkDirectoryURL)
    }
}
#endif

/// The parts of a configuration that the plugin needs. The tool reports its faults.
private struct Configuration {
    static let documentEnds = [".csdl.xml", ".csdl.json"]

    let file: URL
    /// The configuration and the documents that it names.
    let inputs: [URL]
    let outputs: [String]

    init(_ file: URL) {
        self.file = file
        let folder = file.deletingLastPathComponent()
        let data = (try? Data(contentsOf: file)) ?? Data()
        let object = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
        let stem = String(file.lastPathComponent.dropLast(".odata.json".count))
        var names: [String] = []
        if let document = object["document"] as? String {
            names.append(document)
        } else {
            names += Self.documentEnds.map { stem + $0 }
        }
        names += (object["references"] as? [String: Any] ?? [:]).values.compactMap { $0 as? String }.sorted()
        inputs =
            [file]
            + names.map { folder.appendingPathComponent($0).standardizedFileURL }.filter {
                FileManager.default.fileExists(atPath: $0.path)
            }
        let count = min(max(object["files"] as? Int ?? 1, 1), 64)
        outputs = (0..<count).map { $0 == 0 ? stem + ".odata.swift" : "\(stem).odata.\($0 + 1).swift" }
    }

    static func stem(of document: URL) -> String {
        base(of: document, documentEnds).lastPathComponent
    }

    /// Returns the path of a file without its suffix, which is the same for a document and its configuration.
    static func base(of file: URL, _ ends: [String]) -> URL {
        let name = file.lastPathComponent
        let end = ends.first { name.hasSuffix($0) } ?? ""
        return file.deletingLastPathComponent().appendingPathComponent(String(name.dropLast(end.count))).standardizedFileURL
    }
}

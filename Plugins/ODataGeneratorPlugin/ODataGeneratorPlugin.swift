import Foundation
import PackagePlugin

/// Generates code for the metadata documents of a target with each build in which they changed.
@main
struct ODataGeneratorPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        return try commands(
            for: target.sourceFiles.map(\.url), tool: context.tool(named: "ODataGenerator").url, in: context.pluginWorkDirectoryURL)
    }

    private func commands(for files: [URL], tool: URL, in folder: URL) throws -> [Command] {
        let configurations = files.filter { $0.lastPathComponent.hasSuffix(".odata.json") }.map { Configuration($0) }
        let named = Set(configurations.flatMap(\.inputs))
        // A document without a configuration, of which everything is generated.
        let documents = files.filter { file in
            Configuration.documentEnds.contains { file.lastPathComponent.hasSuffix($0) } && !named.contains(file.standardizedFileURL)
        }
        return configurations.map { configuration in
            command(configuration.file, configuration.inputs, configuration.outputs, tool, folder)
        }
            + documents.map { document in
                command(document, [document], [Configuration.stem(of: document) + ".odata.swift"], tool, folder)
            }
    }

    /// The outputs must be known before the tool runs: their number is in the configuration, not in the document.
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

/// What the plugin must know of a configuration. Its faults are the tool's to tell.
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
        let name = document.lastPathComponent
        let end = documentEnds.first { name.hasSuffix($0) } ?? ""
        return String(name.dropLast(end.count))
    }
}

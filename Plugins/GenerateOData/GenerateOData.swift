import Foundation
import PackagePlugin

/// Generates code for the metadata documents of a package and writes it to their folders: `swift package generate-odata`.
@main
struct GenerateOData: CommandPlugin {
    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    func performCommand(context: PluginContext, arguments: [String]) throws {
        var extractor = ArgumentExtractor(arguments)
        let targets = extractor.extractOption(named: "target")
        let tool = try context.tool(named: "ODataGenerator").url
        let rest = extractor.remainingArguments
        // `list` and `explain` have the same arguments as for the tool.
        if let verb = rest.first, !verb.hasPrefix("-") { return try run(tool, rest) }
        let chosen = targets.isEmpty ? context.package.targets : try context.package.targets(named: targets)
        let files = chosen.flatMap { target in
            (target as? any SourceModuleTarget)?.sourceFiles.map(\.url).filter { isInput($0) } ?? []
        }
        guard !files.isEmpty else {
            throw Failure(description: "there is no file NAME.csdl.xml, NAME.csdl.json or NAME.odata.json in the targets of the package")
        }
        try run(tool, ["generate"] + rest + files.map(\.path).sorted())
    }

    /// A document is only an input if there is no configuration with the same name.
    private func isInput(_ file: URL) -> Bool {
        let name = file.lastPathComponent
        if name.hasSuffix(".odata.json") { return true }
        guard let end = [".csdl.xml", ".csdl.json"].first(where: { name.hasSuffix($0) }) else { return false }
        let folder = file.deletingLastPathComponent()
        let siblings = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let configurations = siblings.filter { $0.hasSuffix(".odata.json") }
        if configurations.contains(name.dropLast(end.count) + ".odata.json") { return false }
        return !configurations.contains { configuration in
            let data = (try? Data(contentsOf: folder.appendingPathComponent(configuration))) ?? Data()
            let object = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
            let references = (object["references"] as? [String: Any] ?? [:]).values.compactMap { $0 as? String }
            return object["document"] as? String == name || references.contains(name)
        }
    }

    private func run(_ tool: URL, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = tool
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw Failure(description: "the generator failed; its errors are above")
        }
    }
}

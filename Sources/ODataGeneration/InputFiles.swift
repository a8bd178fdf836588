import Foundation

extension CodeGenerator.Input {
    /// The suffixes of the names of configurations and documents.
    private static let configurationEnd = ".odata.json"
    private static let documentEnds = [".csdl.xml", ".csdl.json"]

    /// Reads a configuration with the documents that it names, or a document with the configuration in the same folder, if there is one.
    ///
    /// The configuration of `graph.csdl.xml` is `graph.odata.json` in the same folder.
    ///
    /// - Parameter path: The path of a configuration, whose name ends with `.odata.json`, or of a document of any name.
    /// - Throws: ``GenerationError`` if a file is missing, or if a fault of the configuration leaves unknown which documents it needs.
    public init(file path: String) throws(GenerationError) {
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent()
        let name = url.lastPathComponent
        let data = try Self.read(url, path)
        if name.hasSuffix(Self.configurationEnd) {
            let stem = String(name.dropLast(Self.configurationEnd.count))
            try self.init(configuration: data, path, in: folder, stem: stem, document: nil)
            return
        }
        let end = Self.documentEnds.first { name.hasSuffix($0) } ?? "." + url.pathExtension
        let stem = name.hasSuffix(end) && name.count > end.count ? String(name.dropLast(end.count)) : name
        let beside = folder.appendingPathComponent(stem + Self.configurationEnd)
        if let configuration = try? Data(contentsOf: beside) {
            let shown = path.dropLast(name.count) + stem + Self.configurationEnd
            try self.init(configuration: configuration, String(shown), in: folder, stem: stem, document: (data, path))
        } else {
            self.init(document: data, named: path, stem: stem)
        }
    }

    private init(
        configuration data: Data, _ path: String, in folder: URL, stem: String, document given: (data: Data, path: String)?
    ) throws(GenerationError) {
        let configuration = try GenerationConfiguration(json: data, file: path)
        let before = String(path.dropLast(URL(fileURLWithPath: path).lastPathComponent.count))
        let positions = TextPositions(file: path, data)
        var document = given
        if let name = configuration.document {
            document = (try Self.read(folder.appendingPathComponent(name), before + name, positions, name), before + name)
        }
        if document == nil {
            for end in Self.documentEnds where document == nil {
                guard let found = try? Data(contentsOf: folder.appendingPathComponent(stem + end)) else { continue }
                document = (found, before + stem + end)
            }
        }
        guard let document else {
            throw GenerationError([
                positions.error(
                    "there is no \(Self.documentEnds.map { stem + $0 }.joined(separator: " or ")) in its folder; name one in 'document'")
            ])
        }
        var references: [String: Data] = [:]
        for (address, name) in configuration.references.sorted(by: { $0.key < $1.key }) {
            references[address] = try Self.read(folder.appendingPathComponent(name), before + name, positions, name)
        }
        self.init(
            document: document.data, named: document.path, references: references, configuration: data, named: path, stem: stem)
    }

    private static func read(
        _ url: URL, _ path: String, _ positions: TextPositions? = nil, _ name: String? = nil
    ) throws(GenerationError) -> Data {
        do {
            return try Data(contentsOf: url)
        } catch {
            let message = "the file '\(path)' can't be read; give the path of a metadata document or of a configuration"
            throw GenerationError([
                positions?.error("the file '\(name ?? path)' can't be read", at: name)
                    ?? GenerationDiagnostic(.error, file: path, message)
            ])
        }
    }
}

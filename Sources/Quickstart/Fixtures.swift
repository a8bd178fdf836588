import Foundation

/// The package's folder `Fixtures`, which is found by this file's place in the source.
enum Fixtures {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures")

    /// Decodes a JSON file.
    ///
    /// - Throws: ``QuickstartError`` that names the file.
    static func read<Value: Decodable>(_ type: Value.Type, from name: String) throws -> Value {
        let file = folder.appendingPathComponent(name)
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw QuickstartError("\(file.path) can't be read. Run Quickstart in the clone it was built in: swift run Quickstart")
        }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw QuickstartError("\(file.path) isn't what it was: \(error)")
        }
    }
}

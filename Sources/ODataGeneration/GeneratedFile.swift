public import Foundation

/// A file of generated code.
public struct GeneratedFile: Sendable, Hashable {
    /// What ``write(to:force:)`` did.
    public enum Outcome: Sendable, Hashable {
        /// The file is new or had other contents.
        case written
        /// The file had the same contents, and wasn't touched.
        case unchanged
        /// The file was edited, or isn't a generated one, and wasn't touched.
        case refused
    }

    /// The name of the file.
    public let name: String
    /// The contents.
    public let text: String

    private static let mark = "// Content hash: "

    /// Creates a file whose second line has the hash of all others.
    init(name: String, heading: String, code: String) {
        self.name = name
        let head = "// \(heading)\n"
        text = head + Self.mark + StableHash(head + code).text + "\n" + code
    }

    /// Returns whether a text is generated code that nobody edited: the hash in it is that of the other lines.
    public static func isUnedited(_ text: String) -> Bool {
        // Editors and version control may end lines in another way.
        var lines = text.replacingOccurrences(of: "\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
        guard let place = lines.prefix(8).firstIndex(where: { $0.hasPrefix(mark) }) else { return false }
        let line = lines.remove(at: place)
        return line.dropFirst(mark.count) == StableHash(lines.joined(separator: "\n")).text
    }

    /// Writes the file to a folder, unless it has the same contents already.
    ///
    /// - Parameters:
    ///   - folder: The folder, which must exist.
    ///   - force: Whether an edited file is overwritten.
    /// - Throws: An error of the file system.
    public func write(to folder: URL, force: Bool = false) throws -> Outcome {
        let url = folder.appendingPathComponent(name)
        if let existing = try? Data(contentsOf: url) {
            if existing == Data(text.utf8) { return .unchanged }
            // An empty file can only be a placeholder.
            let old = String(bytes: existing, encoding: .utf8) ?? ""
            if !force, !existing.isEmpty, !Self.isUnedited(old) { return .refused }
        }
        try Data(text.utf8).write(to: url, options: .atomic)
        return .written
    }
}

public import Foundation

/// A file of generated code.
public struct GeneratedFile: Sendable, Hashable {
    /// The result of ``write(to:force:)``.
    public enum Outcome: Sendable, Hashable {
        /// The file is new or had other contents.
        case written
        /// The file had the same contents and wasn't written.
        case unchanged
        /// The file was edited, isn't a generated one or can't be read, and wasn't written.
        case refused
    }

    /// The existing content at the location of a generated file.
    enum State: Sendable, Hashable {
        case missing
        /// The same contents.
        case same
        /// An empty file, which can only be a placeholder.
        case empty
        /// Generated code without edits.
        case unedited
        /// Generated code that was edited.
        case edited
        /// Something else.
        case foreign
        /// A file that can't be read, or a folder.
        case unreadable
    }

    /// The name of the file.
    public let name: String
    /// The contents.
    public let text: String

    private static let mark = "// Content hash: "

    /// Creates a file whose second line has the hash of all others.
    init(name: String, heading: String, code: String) {
        self.name = name
        // The heading contains the names of files, which can have any character.
        let head = "// \(SwiftNames.visible(heading))\n"
        text = head + Self.mark + StableHash(head + code).text + "\n" + code
    }

    /// Returns whether a text is generated code without edits: the hash in it is the hash of the other lines.
    public static func isUnedited(_ text: String) -> Bool {
        // Editors and version control may change line endings.
        var lines = text.replacingOccurrences(of: "\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
        guard let place = lines.prefix(8).firstIndex(where: { $0.hasPrefix(mark) }) else { return false }
        let line = lines.remove(at: place)
        return line.dropFirst(mark.count) == StableHash(lines.joined(separator: "\n")).text
    }

    /// Returns the existing content at the location of this file, or of any generated file if `text` is `nil`.
    static func state(of url: URL, comparedWith text: String? = nil) -> State {
        guard FileManager.default.fileExists(atPath: url.path) else { return .missing }
        guard let data = try? Data(contentsOf: url) else { return .unreadable }
        if data.isEmpty { return .empty }
        if let text, data == Data(text.utf8) { return .same }
        guard let old = String(bytes: data, encoding: .utf8) else { return .foreign }
        if isUnedited(old) { return .unedited }
        return old.split(whereSeparator: \.isNewline).prefix(8).contains { $0.hasPrefix(mark) } ? .edited : .foreign
    }

    /// Writes the file to a folder, unless the folder has it with the same contents.
    ///
    /// - Parameters:
    ///   - folder: The folder, which must exist.
    ///   - force: Whether a file that isn't unedited generated code is overwritten.
    /// - Throws: An error of the file system.
    public func write(to folder: URL, force: Bool = false) throws -> Outcome {
        let url = folder.appendingPathComponent(name)
        switch Self.state(of: url, comparedWith: text) {
        case .same: return .unchanged
        case .edited, .foreign, .unreadable: if !force { return .refused }
        case .missing, .empty, .unedited: break
        }
        try Data(text.utf8).write(to: url, options: .atomic)
        return .written
    }
}

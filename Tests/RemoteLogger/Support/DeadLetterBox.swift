import Foundation
import RemoteLogger

/// A dead-letter file in a temporary folder, and its contents.
struct DeadLetterBox {
    let letters: DeadLetters
    private let folder: URL

    init(maximumBytes: Int = 16 << 20) throws {
        folder = URL.temporaryDirectory.appending(path: "dead-letters-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        letters = DeadLetters(file: folder.appending(path: "refused.ndjson"), maximumBytes: maximumBytes)
    }

    /// The lines of the rotated file and of the current file.
    var lines: [[String: Any]] {
        [letters.file.path() + ".1", letters.file.path()].flatMap { path in
            (FileManager.default.contents(atPath: path) ?? Data()).split(separator: UInt8(ascii: "\n")).compactMap { line in
                try? JSONSerialization.jsonObject(with: line) as? [String: Any]
            }
        }
    }

    var ids: [String] { lines.compactMap { ($0["record"] as? [String: Any])?["id"] as? String } }
    var bytes: Int {
        [letters.file.path() + ".1", letters.file.path()].reduce(0) { $0 + (FileManager.default.contents(atPath: $1)?.count ?? 0) }
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }
}

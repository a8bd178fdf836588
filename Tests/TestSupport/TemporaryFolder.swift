package import Foundation

/// A folder that exists as long as the value.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init() {
        url = FileManager.default.temporaryDirectory.appending(path: "transport-tests-\(UUID().uuidString)", directoryHint: .isDirectory)
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Writes a file in the folder.
    package func file(_ data: Data, named name: String) throws -> URL {
        let file = url.appending(component: name)
        try data.write(to: file)
        return file
    }

    /// The names of the folder's entries.
    package var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false))) ?? []
    }
}

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

    /// The names of the folder's entries.
    package var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false))) ?? []
    }
}

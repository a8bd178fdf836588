import Foundation

/// Writes to standard error. Failures are nobody's business.
package enum StandardError {
    /// Writes a text as it is.
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

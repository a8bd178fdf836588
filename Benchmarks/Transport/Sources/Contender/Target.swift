import Foundation

/// What is fetched.
struct Target: Sendable {
    let url: URL
    /// The same as text, which other engines take.
    let text: String
    /// Its name beneath the server's root. Made once, as the text is, and not in each call that wants it.
    let name: String

    init(_ url: URL) {
        self.url = url
        text = url.absoluteString
        name = url.lastPathComponent
    }
}

import Foundation

/// The resource to fetch.
struct Target: Sendable {
    let url: URL
    /// The URL as text, for engines that need text.
    let text: String
    /// The name below the server's root. Computed once, like the text, instead of in each call.
    let name: String

    init(_ url: URL) {
        self.url = url
        text = url.absoluteString
        name = url.lastPathComponent
    }
}

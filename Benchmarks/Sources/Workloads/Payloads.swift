public import Foundation

/// The bodies of the responses.
public enum Payloads {
    /// A JSON object of 60 bytes: a ``Health``.
    public static let small = Data(#"{"id": 42, "name": "all is well with us", "isActive": true }"#.utf8)

    /// A JSON object of 2 kB (2048 bytes): a ``Repository``.
    public static let large: Data = {
        let labels = (1...14).map { #"{"id": \#(7000 + $0), "name": "label number \#($0)", "color": "c0ffee"}"# }
        let head =
            #"{"id": 44838949, "name": "swift", "fullName": "swiftlang/swift", "owner": {"login": "swiftlang", "id": 42816656, "#
            + #""avatar": "https://avatars.example.com/u/42816656?v=4", "isAdministrator": false}, "#
            + #""topics": ["compiler", "language", "swift", "concurrency", "generics"], "labels": ["# + labels.joined(separator: ", ")
            + #"], "watchers": 67301, "score": 0.875, "isPrivate": false, "description": ""#
        let text = String(
            "The description goes on until the body is as long as it is meant to be. ".repeated(to: 2048 - head.utf8.count - 2))
        return Data((head + text + "\"}").utf8)
    }()
}

extension String {
    /// Repeats the text up to a number of characters.
    fileprivate func repeated(to count: Int) -> String {
        var text = ""
        while text.count < count { text += self }
        return String(text.prefix(max(count, 0)))
    }
}

public import Foundation

/// A table that comes from a file or the network: a property list or JSON.
///
///     {
///       "BaseURL": "https://api.example.com",
///       "Resources": [
///         { "Name": "user(id:)", "URITemplate": "/users/{id}" },
///         { "Name": "create",    "URITemplate": "/users", "Method": "POST" }
///       ]
///     }
///
/// `BaseURL` is empty by default, `Method` is GET. The origin of `BaseURL` (scheme, host and port) must be that of the class's service root, or
/// one of ``WebServiceClient/WebServiceClient/Configuration/allowedOrigins``: a profile decides on paths and methods, not on who gets the
/// credentials. Where neither client nor class has a root, the first profile's origin is the one that later profiles must keep.
/// `"AllowsBody": true` is ``EndpointDescriptor/allowingBody()``. A `Name` is a key as `#function` spells it, or a bare name, which stands for every
/// method of that name. A profile that can be made has no faults: set it on a live client at any time. What the class's own endpoint of
/// that name requires of the transport, such as pinning, stays required.
public struct ServiceProfile: Sendable {
    /// The service root; empty leaves it to the client.
    public let baseURL: String
    /// The endpoints.
    public let endpoints: EndpointTable
    /// What stands in the profile and means nothing to it, such as misspelled keys, each with its place.
    public let notes: [String]

    /// Reads a profile from a property list (XML or binary) or JSON.
    ///
    /// - Throws: ``ServiceProfileError``, which lists every fault with its resource and position.
    public init(data: Data) throws {
        let reader = ServiceProfileReader(data)
        guard reader.faults.isEmpty else { throw ServiceProfileError(faults: reader.faults) }
        baseURL = reader.baseURL
        endpoints = EndpointTable(entries: reader.entries)
        notes = reader.notes
    }

    /// Reads a profile from a file.
    ///
    /// - Throws: ``ServiceProfileError``, or Foundation's error when the file can't be read.
    public init(contentsOf url: URL) throws {
        try self.init(data: Data(contentsOf: url))
    }

    /// Reads the profile of a client class: by convention the file `ClassName.plist` or `ClassName.json` in a folder.
    ///
    /// - Throws: ``ServiceProfileError``, also when neither file is there.
    public init(for client: WebServiceClient.Type, in folder: URL) throws {
        let name = String(describing: client)
        for ending in ["plist", "json"] {
            let file = folder.appending(path: "\(name).\(ending)")
            if FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) {
                self = try ServiceProfile(contentsOf: file)
                return
            }
        }
        throw ServiceProfileError(faults: ["there is neither \(name).plist nor \(name).json in \(folder.lastPathComponent)"])
    }

    /// Lists every fault of a profile's bytes, each naming its resource and position. Empty when it can be used.
    public static func verify(_ data: Data) -> [String] {
        ServiceProfileReader(data).faults
    }
}

/// The faults of a profile.
public struct ServiceProfileError: DescribedError, Sendable, Hashable {
    /// Each fault, with its resource and position.
    public let faults: [String]

    /// The faults, one a line.
    public var description: String {
        "The service profile can't be used:\n" + faults.map { "  - \($0)" }.joined(separator: "\n")
    }
}

extension ServiceProfile: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Service root, endpoints and notes, secrets masked.
    public var description: String { MaskedMirror.text(of: customMirror, type: "ServiceProfile") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``, part by part: not even a dump shows secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "baseURL": SecretMask.text(ofURL: baseURL), "endpoints": endpoints, "notes": notes.map { SecretMask.text($0) },
            ])
    }
}

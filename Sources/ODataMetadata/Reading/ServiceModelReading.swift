public import Foundation

extension ServiceModel {
    /// Reads a metadata document in CSDL XML or CSDL JSON. The first character that isn't a blank determines the format.
    ///
    /// Common faults are repaired, and ``diagnostics`` lists them. A document is refused only if it isn't well-formed, has no schema, has a
    /// document type declaration, or exceeds the limits.
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - references: The referenced documents by their address, in the spelling of the document. The reader fetches nothing: types of
    /// documents that aren't given remain unknown, which isn't a fault.
    ///   - limits: The limits of the reader.
    /// - Throws: `ServiceModelError`.
    public init(data: Data, references: [String: Data] = [:], limits: Limits = .standard) throws {
        self = try ModelAssembly.read(data, isJSON: nil, references: references, limits: limits)
    }

    /// Reads CSDL XML 2.0, 3.0, 4.0 or 4.01.
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - references: The referenced documents, in either format, by their address, in the spelling of the document.
    ///   - limits: The limits of the reader.
    /// - Throws: `ServiceModelError`.
    public init(xml data: Data, references: [String: Data] = [:], limits: Limits = .standard) throws {
        self = try ModelAssembly.read(data, isJSON: false, references: references, limits: limits)
    }

    /// Reads CSDL JSON 4.01.
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - references: The referenced documents, in either format, by their address, in the spelling of the document.
    ///   - limits: The limits of the reader.
    /// - Throws: `ServiceModelError`.
    public init(json data: Data, references: [String: Data] = [:], limits: Limits = .standard) throws {
        self = try ModelAssembly.read(data, isJSON: true, references: references, limits: limits)
    }

    static func isJSON(_ data: Data) -> Bool {
        let first = data.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }
}

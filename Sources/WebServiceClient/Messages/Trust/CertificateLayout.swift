/// Where the parts of a certificate stand in its DER form (RFC 5280 §4.1).
///
///     Certificate    ::= SEQUENCE { tbsCertificate, signatureAlgorithm SEQUENCE, signatureValue BIT STRING }
///     TBSCertificate ::= SEQUENCE { version [0] OPTIONAL, serialNumber INTEGER, signature SEQUENCE, issuer SEQUENCE,
///                                   validity SEQUENCE, subject SEQUENCE, subjectPublicKeyInfo SEQUENCE,
///                                   issuerUniqueID [1] OPTIONAL, subjectUniqueID [2] OPTIONAL, extensions [3] OPTIONAL }
struct CertificateLayout: Sendable {
    let subjectPublicKeyInfo: Range<Int>
    let issuer: Range<Int>
    let subject: Range<Int>

    /// The layout of a whole certificate, nothing before or after it.
    init(_ bytes: [UInt8]) throws(DERReader.Fault) {
        var outer = DERReader(bytes)
        let certificate = try outer.read(DERReader.Tag.sequence, "the certificate")
        try outer.expectEnd(of: "the certificate")
        var parts = outer.inside(certificate)
        let body = try parts.read(DERReader.Tag.sequence, "the certificate's body")
        _ = try parts.read(DERReader.Tag.sequence, "the algorithm of the signature")
        _ = try parts.read(DERReader.Tag.bitString, "the signature")
        try parts.expectEnd(of: "the signature")

        var fields = parts.inside(body)
        if fields.nextTag == DERReader.Tag.context(0) { _ = try fields.read() }
        _ = try fields.read(DERReader.Tag.integer, "the serial number")
        _ = try fields.read(DERReader.Tag.sequence, "the algorithm of the signature")
        issuer = try fields.read(DERReader.Tag.sequence, "the issuer").whole
        _ = try fields.read(DERReader.Tag.sequence, "the validity")
        subject = try fields.read(DERReader.Tag.sequence, "the subject").whole
        let key = try fields.read(DERReader.Tag.sequence, "the public key")
        subjectPublicKeyInfo = key.whole
        try Self.checkKey(fields.inside(key))
        // Unique identifiers (primitive [1] and [2]) and extensions, in this order and once each.
        for tag in [0x81, 0x82, DERReader.Tag.context(3)] where fields.nextTag == tag { _ = try fields.read() }
        try fields.expectEnd(of: "the extensions")
    }

    /// `SubjectPublicKeyInfo ::= SEQUENCE { algorithm SEQUENCE, subjectPublicKey BIT STRING }`.
    private static func checkKey(_ reader: DERReader) throws(DERReader.Fault) {
        var reader = reader
        _ = try reader.read(DERReader.Tag.sequence, "the algorithm of the public key")
        _ = try reader.read(DERReader.Tag.bitString, "the bits of the public key")
        try reader.expectEnd(of: "the public key")
    }

    /// The common name in a name, else its organisation, as text for a person; `nil` where it has neither.
    ///
    ///     Name ::= SEQUENCE OF SET OF SEQUENCE { type OBJECT IDENTIFIER, value }
    static func shortName(_ name: Range<Int>, in bytes: [UInt8]) -> String? {
        var found: [UInt8: String] = [:]
        var outer = DERReader(bytes, in: name)
        guard let sequence = try? outer.read(DERReader.Tag.sequence, "a name") else { return nil }
        var sets = outer.inside(sequence)
        while let set = try? sets.read(DERReader.Tag.set, "a part of a name") {
            var attributes = sets.inside(set)
            while let attribute = try? attributes.read(DERReader.Tag.sequence, "an attribute") {
                var pair = attributes.inside(attribute)
                guard let type = try? pair.read(DERReader.Tag.objectIdentifier, "a type"), let value = try? pair.read() else { continue }
                // 2.5.4.3 is the common name, 2.5.4.10 the organisation.
                let identifier = bytes[type.content]
                guard identifier.count == 3, identifier.starts(with: [0x55, 0x04]), let kind = identifier.last else { continue }
                found[kind] = text(bytes[value.content])
            }
        }
        return found[3] ?? found[10]
    }

    /// A name as text on one line: strangers write it, and it ends up in errors.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes.prefix(256), as: UTF8.self).unicodeScalars.prefix(80)
        return String(String.UnicodeScalarView(text.map { isPrintable($0) ? $0 : "?" }))
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: scalar != "\u{FFFD}"
        }
    }
}

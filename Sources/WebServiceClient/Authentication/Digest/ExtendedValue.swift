/// Writes extended parameter values, which carry any text in ASCII (RFC 8187 §3.2, the successor of the RFC 5987 that RFC 7616 names).
enum ExtendedValue {
    /// The text as `UTF-8''` and its UTF-8 bytes, those that aren't `attr-char` percent-encoded.
    static func encoded(_ text: String) -> String {
        var result = "UTF-8''"
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            case _ where "!#$&+-.^_`|~".utf8.contains(byte):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                result += "%" + Hexadecimal.text(of: [byte]).uppercased()
            }
        }
        return result
    }
}

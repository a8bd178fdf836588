@_spi(Fuzzing) extension HTTPFields {
    /// What a response's head, status line first, is read as.
    public static func responseHead(_ bytes: [UInt8]) -> (status: Int, version: String?, fields: HTTPFields) {
        let head = CurlHead(bytes: bytes, informational: []).parsed()
        return (head.status, head.version, head.headers)
    }
}

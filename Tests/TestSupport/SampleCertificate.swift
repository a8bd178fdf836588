package import WebServiceClient

/// A certificate made with the openssl program for these tests, and the values that the program reports for it.
package enum SampleCertificate {
    package static let pem = """
        -----BEGIN CERTIFICATE-----
        MIIBsTCCAVegAwIBAgIUTysLaDa34ph1/SIOddBNylihb/AwCgYIKoZIzj0EAwIw
        LTEUMBIGA1UECgwLRXhhbXBsZSBMdGQxFTATBgNVBAMMDEV4YW1wbGUgUm9vdDAg
        Fw0yNjExMjIwMDU2MTZaGA8yMTI2MTAyOTAwNTYxNlowLTEUMBIGA1UECgwLRXhh
        bXBsZSBMdGQxFTATBgNVBAMMDEV4YW1wbGUgUm9vdDBZMBMGByqGSM49AgEGCCqG
        SM49AwEHA0IABDhy8+Mkg6GuyfG5B7s23Nhk3GdhprsZUYu3O3FXN8Jcy5Lu2lVw
        APdzDTNUzjfWbgbDS49+ShAovlB31JOyTpqjUzBRMB0GA1UdDgQWBBTSO1cnVzEF
        3B7GuI5QoYehZo4OPzAfBgNVHSMEGDAWgBTSO1cnVzEF3B7GuI5QoYehZo4OPzAP
        BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQDsDMPYD9G/pUokyWo0
        +jdR9rvX532S71OV5TIvrfHI+QIgNGsTT6hfyWAaClSj4pmh6OWQPsP4GXimoG1Q
        LeQ4/Pk=
        -----END CERTIFICATE-----
        """

    /// A text with the outer form of a private key, which isn't one.
    package static let key = """
        -----BEGIN PRIVATE KEY-----
        VGhpcyBpcyBubyBrZXk7IGl0IG9ubHkgc3RhbmRzIHdoZXJlIG9uZSB3b3VsZCBzdGFuZC4=
        -----END PRIVATE KEY-----
        """

    package static let pin = "9ZNRW3YxDjzTemDth107WT+lnIdNdyQ1OjkvGXbv4no="
    package static let fingerprint = "5a2de4fb9e45c95a05262246b639f1e59e54466c9056d129f9ac9faef3fc6c16"

    package static func certificate() throws -> Certificate { try Certificate(pem: pem) }
}

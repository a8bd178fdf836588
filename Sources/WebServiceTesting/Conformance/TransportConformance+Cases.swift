extension TransportConformance {
    /// All cases of the library. Their names are what gaps are declared by, and stay as they are.
    public static let cases: [ConformanceCase] = [
        PlainCases.all, FieldCases.all, TargetCases.all, RestraintCases.all, InterimCases.all, UploadCases.all, UploadFailureCases.all,
        DownloadCases.all, TruncationCases.all, MalformedCases.all, ConnectionCases.all, RepetitionCases.all, IdleCases.all,
        DeadlineCases.all, UploadDeadlineCases.all, CancellationCases.all, CompressionCases.all, PolicyCases.all, TrustCases.all,
        PinCases.all, IdentityCases.all, HTTP2Cases.all, ProxyCases.all, TunnelCases.all,
    ].flatMap { $0 }
}
